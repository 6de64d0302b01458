import type { more as German } from '../german/more.ts';

export const more: Readonly<Record<keyof typeof German, string>> = {
  'Row of videos': 'Fila de vídeos',
  Select: 'Seleccionar',
  Changed: 'Cambiado',
  archived: 'archivado',
  hidden: 'ocultos',
  any: 'cualquiera',
  'In the feed from': 'En el feed desde',
  'In the feed until': 'En el feed hasta',
  'Article URL': 'URL del artículo',
  'Seconds between images': 'Segundos entre imágenes',
  Protected: 'Protegido',
  Segment: 'Segmento',
  Generated: 'Generado',
  'Events of the service, sent to your systems as they happen.':
    'Eventos del servicio, enviados a sus sistemas según ocurren.',
  'New webhook': 'Nuevo webhook',
  'No webhooks yet. “New webhook” creates one; this shows events on your own machine:':
    'Aún no hay webhooks. «Nuevo webhook» crea uno; esto muestra los eventos en su equipo:',
  'Public keys are for apps and pages, secret keys for servers.':
    'Las claves públicas son para apps y páginas; las secretas, para servidores.',
  'New key': 'Nueva clave',
  'New alert': 'Nueva alerta',
  'No alerts yet. “New alert” creates one, after a test on the last 14 days.':
    'Aún no hay alertas. «Nueva alerta» crea una y la prueba antes con los últimos 14 días.',
  'New metric': 'Nueva métrica',
  'Events, items and results as files, once, every day, or pushed to your own bucket.':
    'Eventos, contenidos y resultados como archivos, una vez, cada día o en su propio bucket.',
  'New export': 'Nueva exportación',
  'No exports yet. “New export” creates one.':
    'Aún no hay exportaciones. «Nueva exportación» crea una.',
  'New setting': 'Nuevo ajuste',
  'New flag': 'Nueva opción',
  'No settings yet. Apps read settings with their feed. “New setting” creates one.':
    'Todavía no hay ajustes. Las apps los leen con su feed: «Nuevo ajuste» crea uno.',
  'No flags yet. A flag turns a part of an app on or off. “New flag” creates one.':
    'Todavía no hay opciones. Una opción activa o desactiva una parte de una app: «Nueva opción» crea una.',
  'New viewer key': 'Nueva clave de espectador',
  'No viewer keys yet: apps send user ids without a signature. “New viewer key” creates one.':
    'Todavía no hay claves de espectador: las apps envían los identificadores de usuario sin firma. «Nueva clave de espectador» crea una.',
  'No bulk jobs yet. “New bulk job” changes all items that match a filter, after a dry run.':
    'Todavía no hay tareas masivas. «Nueva tarea masiva» cambia todos los elementos que cumplen un filtro, y antes lo prueba.',
  'New bucket': 'Nuevo bucket',
  'No buckets yet. “New bucket” adds one.': 'Todavía no hay buckets. «Nuevo bucket» añade el suyo.',
  'Files in the bucket are kept. The credentials are deleted.':
    'Los archivos del bucket se conservan. El acceso a él se olvida.',
  'Stop pushing': 'Dejar de enviar',
  'New schedule': 'Nueva programación',
  'No schedules yet. “New schedule” exports each day.':
    'Todavía no hay programaciones. «Nueva programación» exporta cada día.',
  'Stop this schedule?': '¿Detener esta programación?',
  'Its existing exports are kept. No further days are exported.':
    'Las exportaciones que ha hecho se conservan. No se exporta ningún día más.',
  'Stop the schedule': 'Detener la programación',
  'Rules change the order that results from the weights.':
    'Las reglas cambian el orden que resulta de los pesos.',
  'New rule': 'Nueva regla',
  'No rules yet: only the weights order the feed. “New rule” creates one.':
    'Todavía no hay reglas: solo los pesos ordenan el feed. «Nueva regla» crea una.',
  'Events that have not been sent yet are dropped. A new forwarding begins at its own start.':
    'Los eventos que aún no se han enviado ya no se envían. Un reenvío nuevo empieza en su propio inicio.',
  'A comparison needs a number.': 'Una comparación necesita un número.',
  'A field has the same operator twice.': 'Un campo tiene dos veces el mismo operador.',
  'As JSON': 'Como JSON',
  'As fields': 'Como campos',
  'Each condition needs a field and a value.': 'Cada condición necesita un campo y un valor.',
  'The JSON does not have the form of conditions.': 'El JSON no tiene la forma de las condiciones.',
  'The conditions are not valid JSON.': 'Las condiciones no son JSON.',
  'begins with': 'empieza por',
  '{label} as JSON': '{label} como JSON',
  all: 'todos',
  search: 'buscar',
  key: 'clave',
  to: 'a',
  Compression: 'Compresión',
  Behind: 'Retraso',
  'an id': 'un identificador',
  Yours: 'La suya',
  Stored: 'Guardada',
  'Saved.': 'Guardado.',
  'Saved. Someone else has changed {names} in the meantime; these changes are kept.':
    'Guardado. Otra persona ha cambiado {names} entretanto; eso se queda.',
  'Boost: rank higher': 'Impulsar: más arriba',
  'Suppress: rank lower': 'Reducir: más abajo',
  'Pin to a position': 'Fijar en una posición',
  'Exclude from feeds': 'Excluir de los feeds',
  'Videos to upload': 'Vídeos para subir',
};
