/** Imports videos from addresses, one per line. */
import { Anchor, Button, Group, Stack, Table, TagsInput, Textarea } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, type Answer } from '../../data.ts';
import { CopyCurl, Page } from '../../page.tsx';
import { Failed } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Line = { sourceUrl: string; title: string; tags?: string[] };

const maxAtOnce = 100;

export function ImportPage(): ReactNode {
  const [text, setText] = useState('');
  const [tags, setTags] = useState<string[]>([]);
  const items = linesOf(text).map((line) => ({ ...line, ...(tags.length > 0 && { tags }) }));
  const run = useChange(() => api.post('/v1/content/import', { body: { items } }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run.mutate();
  };
  const results = run.data?.data.results ?? [];
  return (
    <Page title={t('Import')} back={{ to: '/content', label: t('Content') }}>
      <form onSubmit={submit}>
        <Stack maw={800}>
          <Textarea
            label={t('Videos to import')}
            description={t('One per line: the address, then a space and the title.')}
            placeholder="https://example.com/clip.mp4 My clip"
            autosize
            minRows={5}
            required
            value={text}
            error={
              items.length > maxAtOnce ? t('At most {maxAtOnce} at once.', { maxAtOnce }) : null
            }
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <TagsInput label={t('Tags for all of them')} value={tags} onChange={setTags} />
          <Group>
            <Button
              type="submit"
              loading={run.isPending}
              disabled={items.length === 0 || items.length > maxAtOnce}
            >
              {t('Import {count} videos', { count: items.length })}
            </Button>
            <CopyCurl method="POST" path="/v1/content/import" body={{ items }} />
          </Group>
          <Failed error={run.error} />
        </Stack>
      </form>
      {results.length > 0 && <Results of={results} items={items} />}
    </Page>
  );
}

function Results({
  of,
  items,
}: {
  of: Answer<'post', '/v1/content/import'>['data']['results'];
  items: readonly Line[];
}): ReactNode {
  return (
    <Table.ScrollContainer minWidth={480}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Video')}</Table.Th>
            <Table.Th>{t('Result')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {of.map(({ index, status, item, error }) => (
            <Table.Tr key={index}>
              <Table.Td>
                {item === undefined ? (
                  items[index]?.sourceUrl
                ) : (
                  <Anchor href={`#/content/${item.id}`} underline="always">
                    {item.title}
                  </Anchor>
                )}
              </Table.Td>
              <Table.Td>{error === undefined ? status : error.message}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [sourceUrl = '', ...words] = line.split(/\s+/);
      const name = sourceUrl.split(/[?#]/)[0]?.split('/').at(-1) ?? '';
      return { sourceUrl, title: words.join(' ') || name || sourceUrl };
    });
}
