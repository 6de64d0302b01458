/** The organization of tests that project events. */
export const organizationId = 'org_01jd0000000000000000000000';
