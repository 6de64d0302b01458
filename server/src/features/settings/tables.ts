import type { Generated } from 'kysely';
import type { DefaultTimestamp, Json } from '../../platform/database/column-types.ts';

export type SettingKind = 'setting' | 'flag';

type ConfigurationVersionTable = { organization_id: string; version: Generated<number> };

type SettingTable = {
  organization_id: string;
  kind: SettingKind;
  key: string;
  value: Json<unknown>;
  updated_at: DefaultTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    configuration_version: ConfigurationVersionTable;
    setting: SettingTable;
  }
}
