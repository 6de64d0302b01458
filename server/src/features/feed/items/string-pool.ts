import { LRUCache } from 'lru-cache';

/**
 * Gives equal strings one place in memory. Each row of the database brings strings of its own, and a
 * million items share few tags, authors and sections. Only the pool forgets: entries keep what they
 * hold, so odd content cannot make it grow.
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
