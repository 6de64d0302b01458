/** Proves what one connection can cost: one answer at a time, sixteen requests, and no standstill. */
import { testConnections } from './connections.fixture.ts';

await testConnections(null);
