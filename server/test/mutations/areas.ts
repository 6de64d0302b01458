/**
 * The areas whose tests are judged by mutation testing: the files that contain decisions, and their
 * tests.
 */

export type Area = { name: string; sources: string[]; tests: string[] };

/** Globs below `server/src`. Only the tests that load the mutated file are run. */
export const areas: Area[] = [
  {
    name: 'ranking',
    sources: ['features/feed/ranking/*.ts', 'features/feed/ranking/signals/*.ts'],
    tests: ['features/feed/ranking/**/*.test.ts', 'features/feed/page.test.ts'],
  },
  {
    name: 'statistics',
    sources: [
      'features/experiments/statistics/*.ts',
      'features/experiments/{harms,looks,placement}.ts',
    ],
    tests: ['features/experiments/**/*.test.ts'],
  },
  {
    name: 'intake',
    sources: [
      'features/events/intake/event-{data,parser,problem,rules,source,time}.ts',
      'features/events/intake/{crowds,fair-share,patience}.ts',
      'features/events/{bots,labels}.ts',
      'platform/event-log/ledger/event-key.ts',
    ],
    tests: ['features/events/**/*.test.ts', 'platform/event-log/ledger/*.test.ts'],
  },
  {
    name: 'sending',
    sources: [
      'features/webhooks/endpoints/signing-keys.ts',
      'features/webhooks/outbox/filter.ts',
      'features/webhooks/sending/{connecting,lines,schedule,shown-headers,signing}.ts',
      'features/webhooks/sending/{claim-turns,known-webhooks,slot-pool,slots}.ts',
    ],
    tests: ['features/webhooks/outbox/*.test.ts', 'features/webhooks/sending/*.test.ts'],
  },
  {
    name: 'limits',
    sources: [
      'features/bulk/allowance.ts',
      'features/keys/scopes.ts',
      'platform/async/fair-turns.ts',
      'platform/http/{address-group,address-limits,client-address}.ts',
    ],
    tests: [
      'features/{bulk,keys}/*.test.ts',
      'platform/async/fair-turns.test.ts',
      'platform/http/*.test.ts',
    ],
  },
];
