/**
 * Tracks work that a reload would interrupt, such as an upload: while it runs, the browser asks
 * before leaving.
 */
let running = 0;

export const isBusy = (): boolean => running > 0;

export async function busyWith<Result>(work: Promise<Result>): Promise<Result> {
  running += 1;
  if (running === 1) window.addEventListener('beforeunload', ask);
  try {
    return await work;
  } finally {
    running -= 1;
    if (running === 0) window.removeEventListener('beforeunload', ask);
  }
}

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
