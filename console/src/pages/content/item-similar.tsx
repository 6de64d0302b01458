/** Items that the service considers similar. */
import { Anchor, Button, List, Stack, Text, Title } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useRead } from '../../data.ts';
import { Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

export function Similar({ id }: { id: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('Similar items')}
      </Title>
      {isOpen ? (
        <Found id={id} />
      ) : (
        <Button variant="default" w="fit-content" onClick={() => setOpen(true)}>
          {t('Find similar items')}
        </Button>
      )}
    </Stack>
  );
}

function Found({ id }: { id: string }): ReactNode {
  const similar = useRead('/v1/content/{id}/similar', { path: { id }, query: { limit: 10 } });
  return (
    <Show of={similar}>
      {({ data }) =>
        data.length === 0 ? (
          <Text size="sm">{t('The feed has no similar items.')}</Text>
        ) : (
          <List size="sm">
            {data.map((item) => (
              <List.Item key={item.id}>
                <Anchor href={`#/content/${item.id}`} underline="always" inherit>
                  {item.title}
                </Anchor>
              </List.Item>
            ))}
          </List>
        )
      }
    </Show>
  );
}
