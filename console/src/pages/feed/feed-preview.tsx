/** A phone that shows any viewer's feed, with the reason for each item's position. */
import {
  Anchor,
  Badge,
  Box,
  Group,
  List,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { useRead, type Schemas } from '../../data.ts';
import { useParameters } from '../../location.ts';
import { words } from '../../format.ts';
import { Empty, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type FeedItem = Schemas['FeedItem'];

export function FeedPreview(): ReactNode {
  const [values, change] = useParameters();
  const [{ viewer = '', country = '', device = '' }] = useDebouncedValue(values, 300);
  const feed = useRead('/v1/feed', {
    query: {
      limit: 20,
      explain: true,
      ...(viewer === '' ? { deviceId: 'console-preview' } : { userId: viewer }),
      ...(country.length === 2 && { country: country.toUpperCase() }),
      ...(device !== '' && { device: device as 'ios' }),
    },
  });
  return (
    <Stack>
      <Group align="end">
        <TextInput
          label={t('Viewer')}
          placeholder={t('a user id; empty: a new viewer')}
          miw={240}
          value={values['viewer'] ?? ''}
          onChange={(event) => change({ viewer: event.currentTarget.value })}
        />
        <TextInput
          label={t('Country')}
          placeholder="DE"
          maxLength={2}
          w={90}
          value={values['country'] ?? ''}
          onChange={(event) => change({ country: event.currentTarget.value })}
        />
        <Select
          label={t('Device')}
          placeholder={t('any')}
          clearable
          w={130}
          data={['ios', 'android', 'web']}
          value={values['device'] ?? null}
          onChange={(value) => change({ device: value })}
        />
      </Group>
      <Show of={feed}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              {t("This viewer's feed is empty.")}{' '}
              <Anchor href="#/content" underline="always">
                {t('Upload a video')}
              </Anchor>{' '}
              {t('and publish it.')}
            </Empty>
          ) : (
            <Phone items={data} viewer={viewer} />
          )
        }
      </Show>
    </Stack>
  );
}

type PhoneProps = {
  readonly items: readonly FeedItem[];
  /** The viewer's user id; empty for a new viewer. */
  readonly viewer: string;
};

function Phone({ items, viewer }: PhoneProps): ReactNode {
  const [chosen, setChosen] = useState(0);
  const contentIds = [...new Set(items.map(({ id }) => id))].join(',');
  const reactions = useRead(
    '/v1/feed/reactions',
    { query: { contentIds, userId: viewer } },
    { enabled: viewer !== '' },
  );
  const { likes = [], saves = [] } = (viewer !== '' && reactions.data?.data) || {};
  const item = items[Math.min(chosen, items.length - 1)];
  return (
    <Group align="flex-start" gap="xl">
      <Box
        role="listbox"
        aria-label={t('Feed on a phone')}
        tabIndex={0}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step === undefined) return;
          event.preventDefault();
          setChosen(Math.max(0, Math.min(items.length - 1, chosen + step)));
        }}
        style={{
          width: 270,
          height: 540,
          overflowY: 'auto',
          scrollSnapType: 'y mandatory',
          border: '10px solid var(--mantine-color-gray-7)',
          borderRadius: 32,
          background: 'black',
        }}
      >
        {items.map((each, index) => (
          <Screen
            key={`${each.id} ${index}`}
            item={each}
            position={index}
            isChosen={index === chosen}
            onChoose={() => setChosen(index)}
          />
        ))}
      </Box>
      {item !== undefined && (
        <Explanation
          item={item}
          position={chosen}
          isLiked={likes.includes(item.id)}
          isSaved={saves.includes(item.id)}
        />
      )}
    </Group>
  );
}

function Screen({
  item,
  position,
  isChosen,
  onChoose,
}: {
  item: FeedItem;
  position: number;
  isChosen: boolean;
  onChoose: () => void;
}): ReactNode {
  const picture = item.thumbnailUrl ?? item.images[0]?.imageUrl ?? null;
  return (
    <div
      role="option"
      aria-selected={isChosen}
      tabIndex={-1}
      ref={(element) => {
        if (isChosen) element?.scrollIntoView({ block: 'nearest' });
      }}
      onClick={onChoose}
      onKeyDown={(event) => event.key === 'Enter' && onChoose()}
      style={{
        position: 'relative',
        height: 400,
        scrollSnapAlign: 'start',
        cursor: 'pointer',
        background:
          picture === null ? '#222' : `#222 center / cover url(${JSON.stringify(picture)})`,
        outline: isChosen ? '3px solid var(--mantine-color-indigo-4)' : 'none',
        outlineOffset: -3,
      }}
    >
      <Box
        p="sm"
        style={{ position: 'absolute', inset: 'auto 0 0', background: '#000c', color: '#fff' }}
      >
        <Text fw={600}>{`${position + 1}. ${item.title}`}</Text>
        <Text size="sm">{[item.author, ...item.tags.map((tag) => `#${tag}`)].join(' ')}</Text>
      </Box>
    </div>
  );
}

type ExplanationProps = {
  readonly item: FeedItem;
  readonly position: number;
  readonly isLiked: boolean;
  readonly isSaved: boolean;
};

function Explanation({ item, position, isLiked, isSaved }: ExplanationProps): ReactNode {
  const { ranking } = item;
  return (
    <Stack gap="xs" miw={280} flex={1} aria-live="polite">
      <Text fw={700}>
        {t('Position {value}: ', { value: position + 1 })}
        <Anchor href={`#/content/${item.id}`} underline="always" inherit>
          {item.title}
        </Anchor>
      </Text>
      {(isLiked || isSaved) && (
        <Group gap="xs">
          {isLiked && <Badge tt="none">{t('liked by this viewer')}</Badge>}
          {isSaved && <Badge tt="none">{t('saved by this viewer')}</Badge>}
        </Group>
      )}
      {ranking === undefined ? (
        <Text>{t('The feed was not ranked: newest first.')}</Text>
      ) : (
        <>
          <Group gap="xs">
            <Badge variant="outline" color="gray" tt="none">
              {t('score {value}', { value: ranking.score.toFixed(3) })}
            </Badge>
          </Group>
          <List size="sm">
            {ranking.reasons.map((reason) => (
              <List.Item key={reason}>{words(reason)}</List.Item>
            ))}
          </List>
          <Signals signals={ranking.signals} weights={ranking.weights} />
        </>
      )}
    </Stack>
  );
}

/** Contribution of each signal to the score. */
function Signals({
  signals,
  weights,
}: {
  signals: Readonly<Record<string, number>>;
  weights: Readonly<Record<string, number>>;
}): ReactNode {
  return (
    <Table.ScrollContainer minWidth={280}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Signal')}</Table.Th>
            <Table.Th>{t('Value')}</Table.Th>
            <Table.Th>{t('Weight')}</Table.Th>
            <Table.Th>{t('Adds')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.entries(signals).map(([name, value]) => {
            const weight = weights[name] ?? 0;
            return (
              <Table.Tr key={name}>
                <Table.Td>{words(name)}</Table.Td>
                <Table.Td>{value.toFixed(3)}</Table.Td>
                <Table.Td>{weight.toFixed(2)}</Table.Td>
                <Table.Td>
                  <Box
                    h={10}
                    w={`${Math.min(100, 100 * value * weight)}%`}
                    bg="var(--mantine-primary-color-filled)"
                    role="img"
                    aria-label={(value * weight).toFixed(3)}
                  />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
