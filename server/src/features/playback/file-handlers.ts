/** Handlers of other features for paths below `/media/` whose files are not stored, or change. */
import type { FastifyReply, FastifyRequest } from 'fastify';

export type HandledFile = {
  readonly playbackId: string;
  /** The path after the playback id. */
  readonly rest: string;
  /** Whether the file is only for the token's holder. Access has already been granted. */
  readonly isPrivate: boolean;
  /** The folder that the item plays from, `<playbackId>/<folder>`; null before it can be played. */
  readonly mediaPrefix: string | null;
};

export type FileHandler = {
  /**
   * Handles a request; null means that the stored file is sent.
   * @throws {ApiError}
   */
  handle(
    request: FastifyRequest,
    reply: FastifyReply,
    file: HandledFile,
  ): Promise<FastifyReply | null>;
  /** How long a stored file may be cached, by its path after the playback id; null by default. */
  maxAgeSeconds(rest: string): number | null;
};

export class FileHandlers {
  readonly #handlers: FileHandler[] = [];

  add(handler: FileHandler): void {
    this.#handlers.push(handler);
  }

  /** The response of the first handler that has one. */
  async handle(
    request: FastifyRequest,
    reply: FastifyReply,
    file: HandledFile,
  ): Promise<FastifyReply | null> {
    for (const handler of this.#handlers) {
      const sent = await handler.handle(request, reply, file);
      if (sent !== null) return sent;
    }
    return null;
  }

  /** How long a stored file may be cached, if a handler knows it. */
  maxAgeSeconds(rest: string): number | null {
    for (const handler of this.#handlers) {
      const seconds = handler.maxAgeSeconds(rest);
      if (seconds !== null) return seconds;
    }
    return null;
  }
}
