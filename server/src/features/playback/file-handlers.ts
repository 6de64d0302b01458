/** Handlers of other features for paths below `/media/` that are not stored files. */
import type { FastifyReply, FastifyRequest } from 'fastify';

export type HandledFile = {
  readonly playbackId: string;
  /** The path after the playback id. */
  readonly rest: string;
  /** Whether the file is only for the token's holder. Access has already been granted. */
  readonly isPrivate: boolean;
};

/**
 * Handles a request; null means that the stored file is sent.
 * @throws {ApiError}
 */
export type FileHandler = (
  request: FastifyRequest,
  reply: FastifyReply,
  file: HandledFile,
) => Promise<FastifyReply | null>;

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
      const sent = await handler(request, reply, file);
      if (sent !== null) return sent;
    }
    return null;
  }
}
