export function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

export function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

export function movement(now: number | null, before: number | null) {
  if (now === null || before === null) return { change: null, direction: 'flat' };
  return {
    change: before === 0 ? null : (now - before) / before,
    direction: now === before ? 'flat' : now > before ? 'up' : 'down',
  };
}

export function by<Count extends string, Name extends string>(count: Count, name: Name) {
  type One = Record<Count, number> & Record<Name, string | null>;
  return (a: Partial<One>, b: Partial<One>): number =>
    Number(b[count]) - Number(a[count]) || (String(a[name] ?? '') < String(b[name] ?? '') ? -1 : 1);
}
