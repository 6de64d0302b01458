/**
 * Tests the limits of a connection: one response at a time, at most sixteen requests, no stalling.
 */
import { testConnections } from './connections.fixture.ts';

await testConnections(null);
