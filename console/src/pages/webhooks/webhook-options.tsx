/** The form fields for what a webhook receives, when and how, and their values. */
import { NativeSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { api } from '../../api.ts';
import { filterGrammar, type Filter, type Read } from '../../condition-rules.ts';
import { Conditions } from '../../conditions.tsx';
import { useRead, type Schemas } from '../../data.ts';
import { formText } from '../../form-text.ts';
import { t } from '../../texts/texts.ts';

export type NewWebhook = Parameters<typeof api.post<'/v1/webhooks'>>[1]['body'];
type Change = NonNullable<Parameters<typeof api.patch<'/v1/webhooks/{id}'>>[1]['body']>;
type Options = Pick<
  Change,
  | 'retrySchedule'
  | 'timeout'
  | 'payloadVersion'
  | 'rotationOverlap'
  | 'orderedBy'
  | 'signature'
  | 'customer'
  | 'notify'
>;

const hourS = 3_600;
const overlaps = [
  { value: String(hourS), label: t('1 hour') },
  { value: String(24 * hourS), label: t('1 day') },
  { value: String(7 * 24 * hourS), label: t('7 days') },
];
const anyOrder = { value: '', label: t('in any order') };
const byItem = { value: 'contentId', label: t('one after the other for each item') };

const signatures = [
  { value: 'hmac', label: t('with the secret') },
  { value: 'ed25519', label: t('also with a public key') },
];

/** Paths into an example's `data`, such as `error.code`. */
function pathsIn(data: unknown, before = ''): string[] {
  if (Array.isArray(data)) return pathsIn(data[0], before);
  if (typeof data !== 'object' || data === null) return before === '' ? [] : [before];
  return Object.entries(data).flatMap(([name, value]: [string, unknown]) =>
    pathsIn(value, before === '' ? name : `${before}.${name}`),
  );
}

function FilterFields({
  webhook,
  change,
}: {
  webhook: Schemas['Webhook'] | undefined;
  change: (read: Read<Filter | null>) => void;
}): ReactNode {
  const kinds = useRead('/v1/webhook-events', {}).data?.data ?? [];
  const paths = [...new Set(kinds.flatMap(({ example }) => pathsIn(example['data'])))].toSorted();
  return (
    <>
      <Conditions
        label={t('Filter')}
        description={t(
          'Conditions on the data of its events; all must hold. Quotes turn a number into text: "7".',
        )}
        grammar={filterGrammar}
        initial={webhook?.filter ?? null}
        fields={paths}
        change={change}
      />
      {webhook !== undefined && webhook.neverMatches.length > 0 && (
        <Text size="sm">
          {t('Never pass the filter: {value}', { value: webhook.neverMatches.join(', ') })}
        </Text>
      )}
    </>
  );
}

export function OptionFields({
  webhook,
  changeFilter,
}: {
  /** Initial values; absent for a new webhook. */
  webhook?: Schemas['Webhook'];
  changeFilter: (read: Read<Filter | null>) => void;
}): ReactNode {
  const overlap = String(webhook?.rotationOverlap ?? hourS);
  const isListed = overlaps.some(({ value }) => value === overlap);
  const other = { value: overlap, label: `${overlap} seconds` };
  return (
    <Stack gap="xs">
      <FilterFields webhook={webhook} change={changeFilter} />
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput
          name="retrySchedule"
          label={t('Attempts after seconds')}
          placeholder={t('default of the service, or 0, 60, 300')}
          defaultValue={webhook?.retrySchedule?.join(', ') ?? ''}
        />
        <TextInput
          name="timeout"
          label={t('Time-out in seconds')}
          type="number"
          min={1}
          max={30}
          defaultValue={webhook?.timeout ?? 30}
        />
        <NativeSelect
          name="rotationOverlap"
          label={t('A replaced secret is valid for')}
          data={isListed ? overlaps : [...overlaps, other]}
          defaultValue={overlap}
        />
        <NativeSelect
          name="orderedBy"
          label={t('Deliveries are sent')}
          data={[anyOrder, byItem]}
          defaultValue={webhook?.orderedBy ?? ''}
        />
        <NativeSelect
          name="signature"
          label={t('Signature')}
          data={signatures}
          defaultValue={webhook?.signature ?? 'hmac'}
        />
        <NativeSelect
          name="payloadVersion"
          label={t('Payload version')}
          data={['1', '2']}
          defaultValue={String(webhook?.payloadVersion ?? 1)}
        />
        <TextInput name="customer" label={t('Customer')} defaultValue={webhook?.customer ?? ''} />
        <TextInput
          name="notify"
          label={t('Email addresses for notices')}
          placeholder="ops@example.com, …"
          defaultValue={webhook?.notify.join(', ') ?? ''}
        />
      </SimpleGrid>
    </Stack>
  );
}

/** @throws {Error} with a message for users */
export function readOptions(form: HTMLFormElement): Options {
  const field = (name: string) => formText(form, name);
  const parts = (name: string) =>
    field(name)
      .split(/[\s,]+/)
      .filter((part) => part !== '');
  const schedule = parts('retrySchedule').map(Number);
  if (schedule.some((delay) => !Number.isInteger(delay))) {
    throw new Error(
      'Attempts after seconds: enter whole numbers separated by commas, such as 0, 60, 300.',
    );
  }
  return {
    retrySchedule: schedule.length === 0 ? null : schedule,
    timeout: field('timeout') === '' ? null : Number(field('timeout')),
    payloadVersion: field('payloadVersion') === '2' ? 2 : 1,
    rotationOverlap: Number(field('rotationOverlap')),
    orderedBy: field('orderedBy') === '' ? null : 'contentId',
    signature: field('signature') === 'ed25519' ? 'ed25519' : 'hmac',
    customer: field('customer') || null,
    notify: parts('notify'),
  };
}

export type DestinationType = NonNullable<NewWebhook['destination']>['type'];

type Field = {
  name: string;
  label: string;
  isRequired?: boolean;
  isSecret?: boolean;
  placeholder?: string;
};

export const destinations: Record<
  DestinationType,
  { label: string; url: string; fields: readonly Field[] }
> = {
  https: { label: t('an HTTPS endpoint'), url: 'https://example.com/hooks', fields: [] },
  nats: {
    label: 'NATS JetStream',
    url: 'tls://nats.example.com:4222',
    fields: [
      {
        name: 'subject',
        label: t('Subject'),
        isRequired: true,
        placeholder: 'reelfeed.{event}',
      },
      { name: 'username', label: t('User name') },
      { name: 'password', label: t('Password'), isSecret: true },
      { name: 'token', label: t('Token'), isSecret: true },
    ],
  },
  rabbitmq: {
    label: 'RabbitMQ',
    url: 'amqps://rabbit.example.com/vhost',
    fields: [
      { name: 'exchange', label: t('Exchange') },
      {
        name: 'routingKey',
        label: t('Routing key'),
        isRequired: true,
        placeholder: 'reelfeed.{event}',
      },
      { name: 'username', label: t('User name') },
      { name: 'password', label: t('Password'), isSecret: true },
    ],
  },
  s3: {
    label: t('S3 objects'),
    url: 'https://s3.eu-west-1.amazonaws.com/',
    fields: [
      { name: 'bucket', label: t('Bucket'), isRequired: true },
      { name: 'region', label: t('Region'), isRequired: true },
      { name: 'prefix', label: t('Prefix'), placeholder: 'events/' },
      { name: 'accessKeyId', label: t('Access key id'), isRequired: true },
      { name: 'secretAccessKey', label: t('Secret access key'), isRequired: true, isSecret: true },
    ],
  },
};

export function DestinationFields({ type }: { type: DestinationType }): ReactNode {
  const { fields } = destinations[type];
  if (fields.length === 0) return null;
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      {fields.map(({ name, label, isRequired = false, isSecret = false, placeholder }) => (
        <TextInput
          key={`${type} ${name}`}
          name={`destination.${name}`}
          label={label}
          required={isRequired}
          {...(isSecret && { type: 'password', autoComplete: 'new-password' })}
          {...(placeholder !== undefined && { placeholder })}
        />
      ))}
    </SimpleGrid>
  );
}

export function readDestination(
  form: HTMLFormElement,
  type: DestinationType,
): NonNullable<NewWebhook['destination']> {
  const entries = destinations[type].fields
    .map(({ name }) => [name, formText(form, `destination.${name}`)] as const)
    .filter(([, value]) => value !== '');
  // The service validates the fields again and names an invalid one.
  return { type, ...Object.fromEntries(entries) } as NonNullable<NewWebhook['destination']>;
}
