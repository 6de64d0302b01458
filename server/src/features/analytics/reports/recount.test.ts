import { compareWithRecount } from '../../../../test/recount/recount-service.ts';

await compareWithRecount(20_000);
