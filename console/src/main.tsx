import '@mantine/core/styles.css';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { Boundary } from './boundary.tsx';
import { theme, variables } from './shell/theme.ts';

const client = new QueryClient({
  defaultOptions: {
    // The client has already retried; without a network, fail immediately.
    queries: { staleTime: 2_000, retry: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

const root = document.querySelector('#root');
if (root !== null) {
  createRoot(root).render(
    <MantineProvider defaultColorScheme="auto" theme={theme} cssVariablesResolver={variables}>
      <QueryClientProvider client={client}>
        <Boundary isPage>
          <App />
        </Boundary>
      </QueryClientProvider>
    </MantineProvider>,
  );
}
