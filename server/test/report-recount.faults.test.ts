import './report-recount.test.ts';
