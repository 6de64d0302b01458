/** Keyboard actions. All of them are also available as buttons. */
export type KeyActions = {
  step(offset: number): void;
  togglePlay(): void;
  toggleMute(): void;
  toggleLike(): void;
  toggleSave(): void;
  toggleCaptions(): void;
  share(): void;
  toggleFullScreen(): void;
  seekBy(seconds: number): void;
};

/** In a horizontal feed, the arrow keys that move sideways. */
export type SwipeKeys = () => { readonly before: string; readonly after: string };

const seekSeconds = 5;

/**
 * Listens for keys that reach `target`: the element, or the whole page if the element fills it.
 * Ignores keys that a focused control needs.
 */
export function listenToKeys(
  target: EventTarget,
  actions: KeyActions,
  { signal, swipeKeys }: { signal: AbortSignal; swipeKeys: SwipeKeys },
): void {
  const listen = (event: Event): void => {
    if (!(event instanceof KeyboardEvent)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    // Outside the shadow tree, events are retargeted and do not name inner elements.
    const [inner] = event.composedPath();
    const target = inner instanceof Element ? inner : null;
    if (target?.closest('.screen, .menu, input:not([type="range"]), textarea') != null) return;
    const pressesControl = event.key === ' ' || event.key === 'Enter';
    if (pressesControl && target?.closest('button, a') != null) return;
    const movesPictures = event.key === 'ArrowLeft' || event.key === 'ArrowRight';
    if (movesPictures && target?.closest('.pictures') != null) return;
    const action = actionOf(event, actions, swipeKeys());
    if (action === null) return;
    event.preventDefault();
    action();
  };
  target.addEventListener('keydown', listen, { signal });
}

function actionOf(
  event: KeyboardEvent,
  actions: KeyActions,
  { before, after }: { before: string; after: string },
): (() => void) | null {
  // Holding a key moves through the feed, but must not toggle a state repeatedly.
  const once = (action: () => void): (() => void) => (event.repeat ? () => {} : action);
  if (event.key === before) return () => actions.step(-1);
  if (event.key === after) return () => actions.step(1);
  switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
    case 'ArrowDown':
    case 'PageDown':
    case 'j':
      return () => actions.step(1);
    case 'ArrowUp':
    case 'PageUp':
    case 'k':
      return () => actions.step(-1);
    case 'ArrowRight':
      return () => actions.seekBy(seekSeconds);
    case 'ArrowLeft':
      return () => actions.seekBy(-seekSeconds);
    case ' ':
      return once(() => actions.togglePlay());
    case 'm':
      return once(() => actions.toggleMute());
    case 'l':
      return once(() => actions.toggleLike());
    case 'b':
      return once(() => actions.toggleSave());
    case 'c':
      return once(() => actions.toggleCaptions());
    case 's':
      return once(() => actions.share());
    case 'f':
      return once(() => actions.toggleFullScreen());
    default:
      return null;
  }
}
