/** Scale of fault tests: short in `npm test`, full in `npm run test:faults`. */
export const isFullScale = process.env['REELFEED_TEST_SCALE'] === 'full';

export function scaled<Value>(short: Value, full: Value): Value {
  return isFullScale ? full : short;
}

/** Options of a test that takes too long for `npm test`. */
export const onlyInFullRuns = {
  skip: isFullScale ? false : 'a long run: npm run test:faults',
} as const;
