/**
 * Gives equal strings one place in memory. Each row of the database brings strings of its own, and a
 * million items share few tags, authors and sections.
 */
export class StringPool {
  readonly #texts = new Map<string, string>();

  share(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    // Entries keep what they hold; only the pool forgets, so that odd content can't make it grow.
    if (this.#texts.size >= mostTexts) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}

const mostTexts = 50_000;
