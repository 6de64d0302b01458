/** Worker thread of `boundary-curves.ts`: returns a curve for each list of looks it receives. */
import { answerMessages } from '../../../platform/async/worker-thread.ts';
import { boundaryCurve, type PlannedLook } from './group-sequential.ts';

answerMessages((looks: readonly PlannedLook[]) => boundaryCurve(looks));
