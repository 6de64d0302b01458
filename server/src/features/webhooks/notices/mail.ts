/** Mail through the operator's SMTP server. */
import type { Transporter } from 'nodemailer';

export type Mail = {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly attachments?: readonly { readonly name: string; readonly csv: string }[];
  /** Stays the same when a mail is sent again. */
  readonly id: string;
};

/** Resolves when the server has accepted the mail. */
export type SendMail = (mail: Mail) => Promise<void>;

const timeoutMs = 20_000;

/** Returns null if no server is configured. */
export function openMail({
  smtpUrl,
  mailFrom,
}: {
  smtpUrl: string | null;
  mailFrom: string;
}): SendMail | null {
  if (smtpUrl === null) return null;
  const url = new URL(smtpUrl);
  const isTls = url.protocol === 'smtps:';
  const options = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isTls ? 465 : 587) : Number(url.port),
    secure: isTls,
    // A password must not be sent in plain text.
    requireTLS: !isTls && url.username !== '',
    ...(url.username !== '' && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  let transport: Transporter | null = null;
  return async ({ to, subject, text, id, attachments = [] }) => {
    transport ??= (await import('nodemailer')).createTransport(options);
    const messageId = `<${id}@reelfeed>`;
    await transport.sendMail({
      from: mailFrom,
      to: [...to],
      subject,
      text,
      messageId,
      attachments: attachments.map(({ name, csv }) => ({
        filename: name,
        content: csv,
        contentType: 'text/csv; charset=utf-8',
      })),
    });
  };
}
