/** Settings, some of which can change while the service is running. */
import { isDeepStrictEqual } from 'node:util';
import type { SettingTable, SettingValues } from './settings.ts';

export type ReloadReport = {
  applied: string[];
  /** Variables whose new values take effect at the next start. */
  needRestart: string[];
};

export type LiveSettings<Table extends SettingTable> = {
  /** Reloadable settings are getters, so destructuring one captures its current value. */
  readonly values: SettingValues<Table>;
  /** Adopts the reloadable values from newly read settings. */
  replace(next: SettingValues<Table>): ReloadReport;
};

export function liveSettings<Table extends SettingTable>(
  table: Table,
  initial: SettingValues<Table>,
): LiveSettings<Table> {
  let current: Record<string, unknown> = { ...initial };
  const values = {};
  for (const name of Object.keys(table)) {
    Object.defineProperty(values, name, { enumerable: true, get: () => current[name] });
  }
  return {
    values: values as SettingValues<Table>,
    replace(next) {
      const report: ReloadReport = { applied: [], needRestart: [] };
      const replaced = { ...current };
      for (const [name, { env, reloads }] of Object.entries(table)) {
        const value = (next as Record<string, unknown>)[name];
        if (isDeepStrictEqual(value, current[name])) continue;
        if (reloads === true) replaced[name] = value;
        report[reloads === true ? 'applied' : 'needRestart'].push(env);
      }
      current = replaced;
      return report;
    },
  };
}
