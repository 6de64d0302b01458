import { isRightToLeft } from './dom.ts';

/**
 * Reflects the size of the element in its classes until aborted, because the oldest browsers have
 * no container queries. Must be called before slides are placed, so that they are placed in the
 * final layout.
 */
export function watchSize(root: HTMLElement, signal: AbortSignal): void {
  const tell = (): void => {
    const { clientWidth: width, clientHeight: height } = root;
    root.classList.toggle('wide', width >= 720 && height >= 480);
    root.classList.toggle('widest', width >= 1080 && height >= 560);
    root.classList.toggle('compact', width < 240 || height < 480);
    root.classList.toggle('rtl', isRightToLeft(root));
    root.style.setProperty('--width', `${width}px`);
    root.style.setProperty('--height', `${height}px`);
  };
  const observer = new ResizeObserver(tell);
  observer.observe(root);
  signal.addEventListener('abort', () => observer.disconnect());
  tell();
}
