/** The organization: its name and its defaults. */
import { Stack, Switch, TagsInput, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { useRead, type Schemas } from '../../data.ts';
import { DraftForm, useDraft } from '../../draft.tsx';
import { CopyCurl, Page } from '../../page.tsx';
import { Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Organization = Schemas['Organization'];

export function OrganizationPage(): ReactNode {
  const organization = useRead('/v1/organization', {});
  return (
    <Page title={t('Organization')} curl={{ path: '/v1/organization' }}>
      <Show of={organization}>{({ data }) => <Form key={data.id} organization={data} />}</Show>
    </Page>
  );
}

type Fields = Omit<Organization, 'id'>;

const labels: Partial<Record<keyof Fields, string>> = {
  name: 'Name',
  timeZone: 'Time zone of reports',
  autoPublish: 'Publish items as soon as they are ready',
  earlyPlayback: 'Long videos play while the rest is being processed',
  defaultProtected: 'New items are protected',
  allowedOrigins: 'Web pages that may upload and use publishable keys',
};

const fieldsOf = ({ id: _id, ...fields }: Organization): Fields => fields;

function Form({ organization }: { organization: Organization }): ReactNode {
  const form = useDraft<Fields>({
    stored: { values: fieldsOf(organization), tag: null },
    read: async () => {
      const { data } = await api.get('/v1/organization');
      return { values: fieldsOf(data), tag: null };
    },
    write: (body) => api.patch('/v1/organization', { body }),
  });
  const { values: draft, change } = form;
  return (
    <Stack maw={560}>
      <DraftForm
        draft={form}
        labels={labels}
        actions={<CopyCurl method="PATCH" path="/v1/organization" body={form.changes} />}
      >
        <TextInput
          label={t('Name')}
          required
          maxLength={200}
          value={draft.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        <TextInput
          label={t('Time zone of reports')}
          placeholder="Europe/Berlin"
          required
          value={draft.timeZone}
          onChange={(event) => change({ timeZone: event.currentTarget.value })}
        />
        <Switch
          label={t('Publish items as soon as they are ready')}
          checked={draft.autoPublish}
          onChange={(event) => change({ autoPublish: event.currentTarget.checked })}
        />
        <Switch
          label={t('Long videos play while the rest is being processed')}
          checked={draft.earlyPlayback}
          onChange={(event) => change({ earlyPlayback: event.currentTarget.checked })}
        />
        <Switch
          label={t('New items are protected: they play only with a playback token')}
          checked={draft.defaultProtected}
          onChange={(event) => change({ defaultProtected: event.currentTarget.checked })}
        />
        <TagsInput
          label={t('Web pages that may upload and use publishable keys')}
          description={t('Origins such as https://app.example.com. None: pages of every origin.')}
          value={[...draft.allowedOrigins]}
          onChange={(allowedOrigins) => change({ allowedOrigins })}
        />
      </DraftForm>
    </Stack>
  );
}
