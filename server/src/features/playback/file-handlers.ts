/** Handlers of other features that answer paths below `/media/` in place of stored files. */
import type { FastifyReply, FastifyRequest } from 'fastify';

export type HandledFile = {
  readonly playbackId: string;
  /** The path below the playback id. */
  readonly rest: string;
  /** Whether the file is for the holder of a token alone. The request has been let pass. */
  readonly isPrivate: boolean;
};

/** Answers a request; null where the stored file is to be sent. @throws ApiError */
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

  /** The answer of the first handler that has one. */
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
