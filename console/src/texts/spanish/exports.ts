import type { exports as german } from '../german/exports.ts';

export const exports: Readonly<Record<keyof typeof german, string>> = {
  'Add bucket': 'Añadir el bucket',
  'Create export': 'Crear la exportación',
  'Create schedule': 'Crear la programación',
  'Download {bytes}': 'Descargar {bytes}',
  'Each day is exported once it is over. Events can arrive up to 24 hours late, so a day is complete after 25 hours.':
    'Cada día se exporta cuando ha terminado. Los eventos llegan con hasta 24 horas de retraso: a las 25 horas, el día está completo.',
  'Endpoint (empty: AWS)': 'Punto de acceso (vacío: AWS)',
  'Events go to your own bucket as Parquet files, partitioned by day. DuckDB, Athena, BigQuery and Snowflake read them there.':
    'Los eventos van a su propio bucket como archivos Parquet, repartidos por días. DuckDB, Athena, BigQuery y Snowflake los leen allí.',
  Every: 'Cada',
  'Every day': 'Cada día',
  Filters: 'Filtros',
  'Folder (empty: none)': 'Carpeta (vacío: ninguna)',
  Format: 'Formato',
  'Hours after the day': 'Horas después del día',
  'Into your warehouse': 'A su almacén de datos',
  'Its file is removed, and links to it stop working.':
    'Se elimina su archivo y sus enlaces dejan de funcionar.',
  'Last push': 'Último envío',
  'Next day': 'Próximo día',
  'Next push': 'Próximo envío',
  'Progress of the export of {dataset}': 'Progreso de la exportación de {dataset}',
  'Received since (empty: now)': 'Recibidos desde (vacío: ahora)',
  Rows: 'Filas',
  'Stop pushing to {bucket}': 'Dejar de enviar a {bucket}',
  'Stop the schedule of {dataset} from {nextDate}':
    'Detener la programación de {dataset} desde {nextDate}',
  What: 'Qué',
  'Everything written so far is removed.': 'Lo escrito hasta ahora se elimina.',
  '{label} the export': 'Exportación: {label}',
  '{label} the export of {dataset} of {createdAt}':
    'Exportación de {dataset} del {createdAt}: {label}',
  '{label} this export?': 'Esta exportación: ¿{label}?',
  '{startDate} to {endDate}': '{startDate} a {endDate}',
};
