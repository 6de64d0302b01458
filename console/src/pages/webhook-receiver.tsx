/** A receiver to copy, which verifies what it gets. */
import { Code, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Copy } from '../page.tsx';

const receiver = `import { createServer } from 'node:http';
import { verifyWebhook } from '@reelfeed/client/server';

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const { event, data } = verifyWebhook(
      Buffer.concat(chunks), request.headers, process.env.WEBHOOK_SECRET);
    console.log(event, data);
    response.writeHead(204).end();
  } catch {
    response.writeHead(401).end();
  }
}).listen(3000);
`;

export function Receiver(): ReactNode {
  return (
    <details>
      <summary>
        <Text size="sm" component="span">
          A receiver to copy
        </Text>
      </summary>
      <Group justify="flex-end">
        <Copy text={receiver} label="Copy the receiver" />
      </Group>
      <Code block tabIndex={0}>
        {receiver}
      </Code>
    </details>
  );
}
