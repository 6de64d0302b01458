/** Server-side parts: the admin client and the verification of webhooks. */
export { createAdmin, type Admin, type AdminOptions, type AdminUpload } from './admin.ts';
export type { Answer, CallOptions, ItemOf, ListPath, PathOf } from './admin-types.ts';
export type { components, operations, paths } from './api.generated.ts';
export { ReelfeedError, type ErrorDetail } from './errors.ts';
export { upload, type UploadOptions, type UploadProgress } from './upload.ts';
export type { KnownWebhookEvent, WebhookEvent, WebhookEventData } from './webhook-events.ts';
export {
  verifyWebhook,
  WebhookVerificationError,
  type VerifyWebhookOptions,
  type WebhookHeaders,
} from './webhooks.ts';
