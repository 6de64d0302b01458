import { type CarouselImage } from '@reelfeed/client';
import { element } from './dom.ts';
import { webAddress, type Slide } from './slides.ts';
import { strings } from './strings.ts';

/** A strip of pictures that is swiped sideways, or moved with the arrow keys once it has the focus. */
export function picturesOf(title: string, pictures: readonly CarouselImage[]): HTMLElement {
  const strip = element('div', { className: 'pictures', tabIndex: 0 });
  strip.setAttribute('role', 'group');
  strip.setAttribute('aria-label', title);
  for (const [index, picture] of pictures.entries()) {
    const address = webAddress(picture.imageUrl);
    if (address === null) continue;
    const name = picture.altText ?? strings.pictureOf(index + 1, pictures.length);
    strip.append(element('img', { src: address, alt: name, decoding: 'async' }));
  }
  return strip;
}

/** Turns the pictures of a carousel that asks for it. Answers what stops the turning. */
export function turnPictures(slide: Slide | null, strip: HTMLElement | null): () => void {
  const seconds = slide?.media.kind === 'pictures' ? slide.item.autoScrollInterval : null;
  if (seconds === null || seconds <= 0 || strip === null) return () => {};
  const timer = setInterval(() => advance(strip), seconds * 1000);
  return () => clearInterval(timer);
}

/** Shows the next picture, after the last one the first. */
function advance(strip: HTMLElement): void {
  const width = strip.clientWidth;
  const isLast = strip.scrollLeft + width * 1.5 > strip.scrollWidth;
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const left = isLast ? 0 : strip.scrollLeft + width;
  strip.scrollTo({ left, behavior: calm ? 'instant' : 'smooth' });
}
