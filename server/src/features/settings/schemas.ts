import { Type } from 'typebox';
import { Closed, Timestamp } from '../../platform/http/schemas.ts';

export const Value = Type.Object({
  key: Type.String(),
  value: Type.Unknown({ description: 'Of a setting a scalar; of a flag any JSON.' }),
  updatedAt: Timestamp,
});

export const NewValue = Closed({
  value: Type.Unknown({
    description: 'A setting takes a string, a number or a boolean; a flag any JSON.',
  }),
});

export const DeletedValue = Type.Object({ key: Type.String(), deleted: Type.Literal(true) });

export const KeyParams = Type.Object({
  key: Type.String({ maxLength: 512, description: 'A dotted name, such as `player.autoplay`.' }),
});
