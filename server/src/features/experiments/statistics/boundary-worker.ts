/** The thread of `boundary-curves.ts`: a curve for each list of looks that it is sent. */
import { answerMessages } from '../../../platform/worker-thread.ts';
import { boundaryCurve, type PlannedLook } from './group-sequential.ts';

answerMessages((looks: readonly PlannedLook[]) => boundaryCurve(looks));
