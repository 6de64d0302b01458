import { compareWithRecount } from './recount-service.fixture.ts';

await compareWithRecount(300_000);
