import { integer } from '../settings/config-values.ts';
import { setting, type SettingValues } from '../settings/settings.ts';
import { maxAddressLimit, type AddressLimits } from './address-limits.ts';

const limit = integer({ min: 0, max: maxAddressLimit });

/** Reloadable, like every limit. */
export const addressLimitSettings = {
  pageAddressLimit: setting({
    env: 'REELFEED_ADDRESS_LIMIT_PAGES',
    parse: limit,
    fallback: '3000',
    about:
      'Maximum number of requests without a key from one address in any 60 seconds, on each process, for the pages of the console, the guides and shared reports. 0: no limit.',
    reloads: true,
  }),
  viewerAddressLimit: setting({
    env: 'REELFEED_ADDRESS_LIMIT_VIEWERS',
    parse: limit,
    fallback: '0',
    about:
      'The same for requests with a publishable key, such as feed and events, and for the player. 0: no limit, since a mobile network may have thousands of viewers behind one address.',
    reloads: true,
  }),
  mediaAddressLimit: setting({
    env: 'REELFEED_ADDRESS_LIMIT_MEDIA',
    parse: limit,
    fallback: '0',
    about:
      'The same for files of items and of the console, and for uploads by their URLs. 0: no limit.',
    reloads: true,
  }),
};

/** The current limits; they are read from the configuration each time. */
export function addressLimits(config: SettingValues<typeof addressLimitSettings>): AddressLimits {
  return {
    get pages() {
      return config.pageAddressLimit;
    },
    get viewers() {
      return config.viewerAddressLimit;
    },
    get media() {
      return config.mediaAddressLimit;
    },
  };
}
