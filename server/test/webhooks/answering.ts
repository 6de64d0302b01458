/** The service and a receiver whose response a test controls. */
import assert from 'node:assert/strict';
import { startReceiver, type Receiver } from '../receiver.ts';
import { startWebhookService, type WebhookService } from './webhooks.ts';

export type AnsweringService = {
  service: WebhookService;
  receiver: Receiver;
  /** Sets the status that the receiver returns; initially 204. */
  answerWith: (status: number) => void;
  /** Removes the webhook and resets the receiver's requests and status. */
  cleanUp: (webhookId: string) => Promise<void>;
};

export async function startAnsweringService(
  env: Record<string, string> = {},
): Promise<AnsweringService> {
  let answer = 204;
  const receiver = await startReceiver(() => answer);
  const service = await startWebhookService({ REELFEED_EGRESS_ALLOW: receiver.allow, ...env });
  return {
    service,
    receiver,
    answerWith: (status) => {
      answer = status;
    },
    cleanUp: async (webhookId) => {
      answer = 204;
      receiver.requests.length = 0;
      const { status } = await service.call('DELETE', `/v1/webhooks/${webhookId}`);
      assert.equal(status, 200);
    },
  };
}
