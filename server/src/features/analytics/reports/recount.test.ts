import { compareWithRecount } from './recount-service.fixture.ts';

await compareWithRecount(20_000);
