/** The kinds of events that webhooks receive, each with a sample. */
import { Code, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead } from '../data.ts';
import { Show } from '../states.tsx';

export function Catalogue(): ReactNode {
  const kinds = useRead('/v1/webhook-events', {});
  return (
    <details>
      <summary>
        <Text size="sm" component="span">
          Kinds of events, with samples
        </Text>
      </summary>
      <Show of={kinds}>
        {({ data }) => (
          <Stack gap="xs" pt="xs">
            {data.map(({ event, description, example }) => (
              <details key={event}>
                <summary>
                  <Text size="sm" component="span">
                    <b>{event}</b> {description}
                  </Text>
                </summary>
                <Code block tabIndex={0}>
                  {JSON.stringify(example, null, 2)}
                </Code>
              </details>
            ))}
          </Stack>
        )}
      </Show>
    </details>
  );
}
