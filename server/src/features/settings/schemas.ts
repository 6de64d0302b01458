import { Type } from 'typebox';
import { Closed, Timestamp } from '../../platform/http/schemas.ts';

export const Value = Type.Object({
  key: Type.String(),
  value: Type.Unknown({ description: 'A scalar for a setting, any JSON for a flag.' }),
  updatedAt: Timestamp,
});

export const NewValue = Closed({
  value: Type.Unknown({
    description: 'A setting takes a string, a number or a boolean; a flag takes any JSON.',
  }),
});

export const DeletedValue = Type.Object({ key: Type.String(), deleted: Type.Literal(true) });

export const KeyParams = Type.Object({
  key: Type.String({ maxLength: 512, description: 'A dotted name, such as `player.autoplay`.' }),
});
