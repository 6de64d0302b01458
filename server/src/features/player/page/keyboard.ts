/** What the keys do. The same actions stand behind buttons, so no key is the only way. */
export interface KeyActions {
  step(offset: number): void;
  togglePlay(): void;
  toggleMute(): void;
  toggleLike(): void;
  toggleCaptions(): void;
  share(): void;
  seekBy(seconds: number): void;
}

const seekSeconds = 5;

/** Listens to the whole page. Keys that a focused control needs for itself are left to it. */
export function listenToKeys(actions: KeyActions): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest('.screen, input:not([type="range"]), textarea') != null) return;
    const pressesControl = event.key === ' ' || event.key === 'Enter';
    if (pressesControl && target?.closest('button, a') != null) return;
    const movesPictures = event.key === 'ArrowLeft' || event.key === 'ArrowRight';
    if (movesPictures && target?.closest('.pictures') != null) return;
    const action = actionOf(event, actions);
    if (action === null) return;
    event.preventDefault();
    action();
  });
}

function actionOf(event: KeyboardEvent, actions: KeyActions): (() => void) | null {
  // Holding a key walks through the feed but must not flicker between two states.
  const once = (action: () => void): (() => void) => (event.repeat ? () => {} : action);
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
    case 'c':
      return once(() => actions.toggleCaptions());
    case 's':
      return once(() => actions.share());
    default:
      return null;
  }
}
