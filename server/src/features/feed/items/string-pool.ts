import { LRUCache } from 'lru-cache';

/**
 * Interns strings. Each database row brings its own copies, while a million items share few tags,
 * authors and sections. The pool itself is bounded; entries keep their strings, so unusual content
 * cannot make it grow.
 */
export class StringPool {
  readonly #texts = new LRUCache<string, string>({ max: 50_000 });

  share(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }
}
