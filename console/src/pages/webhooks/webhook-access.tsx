/**
 * Authentication of a webhook to its receiver: headers, a certificate, a token. Values are never
 * shown.
 */
import { Button, Code, Group, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, type Schemas } from '../../data.ts';
import { FormDrawer } from '../../drawer.tsx';
import { formText } from '../../form-text.ts';
import { moment } from '../../format.ts';
import { askThen } from '../../questions.tsx';
import { Failed } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Webhook = Schemas['Webhook'];
type Body = NonNullable<Parameters<typeof api.patch<'/v1/webhooks/{id}'>>[1]['body']>;
type Part = 'headers' | 'clientCertificate' | 'oauth';

const names: Record<Part, string> = {
  headers: 'headers',
  clientCertificate: 'client certificate',
  oauth: 'OAuth',
};

export function Access({ webhook }: { webhook: Webhook }): ReactNode {
  const [edited, setEdited] = useState<Part | null>(null);
  const { id, headerNames, clientCertificate, oauth, destination } = webhook;
  const save = useChange((body: Body) => api.patch('/v1/webhooks/{id}', { path: { id }, body }));
  const remove = (part: Part) =>
    askThen(
      {
        title: t('Remove the {value}?', { value: names[part] }),
        text: t('The service does not show them again. The next delivery goes without them.'),
        action: t('Remove'),
      },
      () => save.mutate({ [part]: null }),
    );
  const rows: [Part, string | null][] = [
    ['headers', headerNames.length === 0 ? null : headerNames.join(', ')],
    [
      'clientCertificate',
      clientCertificate === null
        ? null
        : `${clientCertificate.subject}, until ${moment(clientCertificate.expiresAt)}`,
    ],
    ['oauth', oauth === null ? null : `${oauth.clientId} at ${oauth.tokenUrl}`],
  ];
  if (destination.type !== 'https') return null;
  return (
    <Stack gap="xs" role="region" aria-label={t('Access to the receiver')}>
      <Title order={2} size="h4">
        {t('Access to the receiver')}
      </Title>
      {rows.map(([part, value]) => (
        <Row
          key={part}
          name={names[part]}
          value={value}
          onSet={() => setEdited(part)}
          onRemove={() => remove(part)}
        />
      ))}
      {edited === null && <Failed error={save.error} />}
      {edited !== null && (
        <FormDrawer
          title={t('Set {value}', { value: names[edited] })}
          label={t('Save')}
          close={() => setEdited(null)}
          isPending={save.isPending}
          error={save.error}
          onSubmit={(form) =>
            save.mutate(readAccess(form, edited), { onSuccess: () => setEdited(null) })
          }
        >
          {edited === 'headers' && <HeaderFields />}
          {edited === 'clientCertificate' && <CertificateFields />}
          {edited === 'oauth' && <OauthFields oauth={oauth} />}
        </FormDrawer>
      )}
    </Stack>
  );
}

function Row({
  name,
  value,
  onSet,
  onRemove,
}: {
  name: string;
  value: string | null;
  onSet: () => void;
  onRemove: () => void;
}): ReactNode {
  const isSet = value !== null;
  const button = { size: 'compact-sm', variant: 'default' } as const;
  return (
    <Group gap="xs">
      <Text size="sm" w={150}>
        {name}
      </Text>
      {isSet ? (
        <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>
      ) : (
        <Text size="sm">{t('none')}</Text>
      )}
      <Button {...button} aria-label={`${isSet ? 'Replace' : 'Set'} ${name}`} onClick={onSet}>
        {isSet ? t('Replace…') : t('Set…')}
      </Button>
      {isSet && (
        <Button {...button} aria-label={t('Remove {name}', { name })} onClick={onRemove}>
          {t('Remove…')}
        </Button>
      )}
    </Group>
  );
}

function readAccess(form: HTMLFormElement, part: Part): Body {
  const text = (name: string) => formText(form, name);
  switch (part) {
    case 'headers':
      return { headers: readHeaders(text('headers')) };
    case 'clientCertificate':
      return { clientCertificate: { certificate: text('certificate'), key: text('key') } };
    case 'oauth':
      return {
        oauth: {
          tokenUrl: text('tokenUrl'),
          clientId: text('clientId'),
          clientSecret: text('clientSecret'),
          ...(text('scope') !== '' && { scope: text('scope') }),
          ...(text('audience') !== '' && { audience: text('audience') }),
        },
      };
    default:
      return part satisfies never;
  }
}

/** Parses lines of `Name: value`. */
function readHeaders(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

function HeaderFields(): ReactNode {
  return (
    <Textarea
      name="headers"
      label={t('Headers, one on each line')}
      description={t('They replace all existing ones, and are stored encrypted.')}
      placeholder="Authorization: Bearer …"
      required
      autosize
      minRows={3}
      data-autofocus
      autoComplete="off"
    />
  );
}

function CertificateFields(): ReactNode {
  const pem = { required: true, autosize: true, minRows: 4, autoComplete: 'off' } as const;
  return (
    <>
      <Textarea
        {...pem}
        name="certificate"
        label={t('Certificate (PEM)')}
        placeholder="-----BEGIN CERTIFICATE-----"
        data-autofocus
      />
      <Textarea
        {...pem}
        name="key"
        label={t('Private key (PEM)')}
        placeholder="-----BEGIN PRIVATE KEY-----"
      />
    </>
  );
}

function OauthFields({ oauth }: { oauth: Webhook['oauth'] }): ReactNode {
  return (
    <>
      <TextInput
        name="tokenUrl"
        type="url"
        label={t('Token URL')}
        required
        data-autofocus
        defaultValue={oauth?.tokenUrl ?? ''}
      />
      <TextInput
        name="clientId"
        label={t('Client id')}
        required
        defaultValue={oauth?.clientId ?? ''}
      />
      <TextInput
        name="clientSecret"
        type="password"
        label={t('Client secret')}
        required
        autoComplete="new-password"
      />
      <TextInput name="scope" label={t('Scope')} defaultValue={oauth?.scope ?? ''} />
      <TextInput name="audience" label={t('Audience')} defaultValue={oauth?.audience ?? ''} />
    </>
  );
}
