import { compareJourneys } from '../../../test/recount/journeys-service.ts';

await compareJourneys(300_000);
