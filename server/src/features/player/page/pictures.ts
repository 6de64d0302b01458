import { type CarouselImage } from '@reelfeed/client';
import { element } from './dom.ts';
import { webAddress } from './slides.ts';
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

/** Shows the next picture, after the last one the first. */
export function advancePictures(strip: Element): void {
  const width = strip.clientWidth;
  const isLast = strip.scrollLeft + width * 1.5 > strip.scrollWidth;
  strip.scrollTo({ left: isLast ? 0 : strip.scrollLeft + width, behavior: 'smooth' });
}
