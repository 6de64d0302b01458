/** The child's side of a task that keeps receiving input; see `Talk`. */

/** Subsequent messages from the parent, in order. */
export async function* readOrders<Order>(): AsyncGenerator<Order> {
  const waiting: Order[] = [];
  let wake = (): void => undefined;
  process.on('message', (order: Order) => {
    waiting.push(order);
    wake();
  });
  for (;;) {
    const order = waiting.shift();
    if (order === undefined) await new Promise<void>((resolve) => (wake = resolve));
    else yield order;
  }
}

/** Resolves once the answer has been sent. */
export function say(answer: object): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(answer, undefined, undefined, () => resolve());
  });
}
