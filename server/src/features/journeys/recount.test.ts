import { compareJourneys } from './recount-service.fixture.ts';

await compareJourneys(20_000);
