import { defineErrors } from '../../platform/http/errors.ts';

export const experimentErrors = defineErrors({
  EXPERIMENT_NOT_DRAFT: { status: 409, message: 'This is only possible for a draft.' },
  EXPERIMENT_RUNNING: { status: 409, message: 'The experiment is running. Stop it first.' },
  EXPERIMENT_NOT_RUNNING: { status: 409, message: 'The experiment is not running.' },
  LAYER_FULL: {
    status: 409,
    message: 'Running ranking experiments leave less traffic than this experiment needs.',
  },
  SETTING_IN_EXPERIMENT: {
    status: 409,
    message: 'A running experiment overrides the same setting or flag.',
  },
});
