/** Text in several scripts and directions, as viewers and editors of the same feed write it. */
export const languages = {
  arabic: 'مقطع قصير عن القهوة في الصباح (١٢٣)',
  hebrew: 'סרטון קצר על קפה – "בוקר טוב" 123!',
  japanese: 'コーヒーの淹れ方、朝の一杯',
  thai: 'วิธีชงกาแฟในตอนเช้าแบบง่ายๆที่บ้าน',
  mixedDirections: 'Coffee قهوة and קפה, 3 of ٧',
  flags: '🇩🇪🏴󠁧󠁢󠁳󠁣󠁴󠁿👍🏽',
} as const;
