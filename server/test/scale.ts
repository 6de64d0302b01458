/** Scale of fault tests: short in `npm test`, full in `npm run test:faults`. */
export const isFullScale = process.env['REELFEED_TEST_SCALE'] === 'full';

export function scaled<Value>(short: Value, full: Value): Value {
  return isFullScale ? full : short;
}
