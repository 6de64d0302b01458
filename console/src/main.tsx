import '@mantine/core/styles.css';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { ApiFailure } from './api.ts';
import { App } from './app.tsx';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // An explained refusal stays one; a lost connection may come back.
      retry: (count, error) =>
        count < 3 && (!(error instanceof ApiFailure) || error.status === 0 || error.status >= 500),
    },
  },
});

const root = document.querySelector('#root');
if (root !== null) {
  createRoot(root).render(
    <MantineProvider defaultColorScheme="auto">
      <QueryClientProvider client={client}>
        <App />
      </QueryClientProvider>
    </MantineProvider>,
  );
}
