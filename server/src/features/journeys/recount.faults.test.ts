import { compareJourneys } from './recount-service.fixture.ts';

await compareJourneys(300_000);
