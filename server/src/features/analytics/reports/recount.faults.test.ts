import { compareWithRecount } from '../../../../test/recount/recount-service.ts';

await compareWithRecount(300_000);
