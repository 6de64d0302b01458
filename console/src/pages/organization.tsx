/** The organization: its name, and what holds for everything in it. */
import { Button, Group, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useRead, type Schemas } from '../data.ts';
import { CopyCurl, Page } from '../page.tsx';
import { Failed, Show } from '../states.tsx';

type Organization = Schemas['Organization'];

export function OrganizationPage(): ReactNode {
  const organization = useRead('/v1/organization', {});
  return (
    <Page title="Organization" curl={{ path: '/v1/organization' }}>
      <Show of={organization}>{({ data }) => <Form key={data.id} organization={data} />}</Show>
    </Page>
  );
}

function Form({ organization }: { organization: Organization }): ReactNode {
  const [draft, setDraft] = useState(organization);
  const { id: _id, ...body } = draft;
  const save = useChange(() => api.patch('/v1/organization', { body }));
  const change = (changes: Partial<Organization>) => {
    save.reset();
    setDraft({ ...draft, ...changes });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack maw={560}>
        <TextInput
          label="Name"
          required
          maxLength={200}
          value={draft.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        <TextInput
          label="Time zone of reports"
          placeholder="Europe/Berlin"
          required
          value={draft.timeZone}
          onChange={(event) => change({ timeZone: event.currentTarget.value })}
        />
        <Switch
          label="Publish items as soon as they are ready"
          checked={draft.autoPublish}
          onChange={(event) => change({ autoPublish: event.currentTarget.checked })}
        />
        <Switch
          label="Long videos play while the rest of them is processed"
          checked={draft.earlyPlayback}
          onChange={(event) => change({ earlyPlayback: event.currentTarget.checked })}
        />
        <Switch
          label="New items are protected: they play with a playback token alone"
          checked={draft.defaultProtected}
          onChange={(event) => change({ defaultProtected: event.currentTarget.checked })}
        />
        <TagsInput
          label="Web pages that may upload and use publishable keys"
          description="Origins such as https://app.example.com. None: pages of every origin."
          value={[...draft.allowedOrigins]}
          onChange={(allowedOrigins) => change({ allowedOrigins })}
        />
        <Group>
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
          <CopyCurl method="PATCH" path="/v1/organization" body={body} />
          {save.isSuccess && <Text role="status">Saved.</Text>}
        </Group>
        <Failed error={save.error} />
      </Stack>
    </form>
  );
}
