/** The complete configuration: the settings of the platform and of all features. */
import { platformSettings } from '../platform/settings/config.ts';
import {
  readSettings,
  type SettingTable,
  type SettingValues,
} from '../platform/settings/settings.ts';
import { featureSettings, type Composition } from './composition.ts';
import { features } from './features.ts';

type FeatureSettings =
  typeof features extends Composition<infer _Parts, infer Settings> ? Settings : never;
type AllSettings = typeof platformSettings & FeatureSettings;

export const settings = {
  ...platformSettings,
  ...featureSettings(features.list),
} as AllSettings & SettingTable;

export type Config = SettingValues<AllSettings>;

/** @throws ConfigurationError listing each invalid value and what was expected instead */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  return readSettings(settings, env);
}
