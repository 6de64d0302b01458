/** Texts of live in Spanish. */
import type { live as German } from '../german/live.ts';

export const live: Readonly<Record<keyof typeof German, string>> = {
  'Copy key': 'Copiar la clave',
  'Copy server': 'Copiar el servidor',
  'Create live stream': 'Crear directo',
  'Delete the stream': 'Eliminar el directo',
  'Delete “{title}”?': '¿Eliminar «{title}»?',
  'Delete…': 'Eliminar…',
  'End the stream': 'Terminar el directo',
  'End “{title}”?': '¿Terminar «{title}»?',
  Ended: 'Terminado',
  'In OBS: Settings, Stream, Service “Custom”; then paste server and key. Under Output choose H.264 and AAC, and a keyframe interval of 2 s.':
    'En OBS: Ajustes, Emisión, Servicio «Personalizado»; pegue el servidor y la clave. En Salida elija H.264 y AAC, y un intervalo de fotogramas clave de 2 s.',
  'Its item': 'Su contenido',
  'Live stream': 'Directo',
  'Viewers can go back by (seconds)': 'Los espectadores pueden retroceder (segundos)',
  'Reconnect window (seconds)': 'Tiempo de reconexión (segundos)',
  'Reset key': 'Renovar la clave',
  'Reset the key of this stream?': '¿Renovar la clave de este directo?',
  Server: 'Servidor',
  'Stream key': 'Clave de emisión',
  'The encoder is cut off, and the stream cannot be started again.':
    'El codificador se desconecta y el directo no se puede reanudar.',
  'The old key stops working at once: an encoder that uses it is cut off.':
    'La clave anterior deja de valer enseguida: el codificador que la usa se desconecta.',
  'The stream and its key are gone for good. Its item is archived, with its recording.':
    'El directo y su clave desaparecen para siempre. Su contenido se archiva, con la grabación.',
  'The stream key is shown this once: keep it':
    'La clave de emisión se muestra solo esta vez: guárdela',
  'This service takes no live streams: REELFEED_RTMP_PORT is 0.':
    'Este servicio no admite directos: REELFEED_RTMP_PORT es 0.',
  'Type “end” to confirm': 'Escriba «end» para confirmar',
  'Waiting for an encoder at {rtmpUrl}.': 'Esperando un codificador en {rtmpUrl}.',
  ended: 'terminado',
  'ended {endedAt}': 'terminado {endedAt}',
  idle: 'en espera',
  'started {startedAt}': 'empezado {startedAt}',
  '{whole} s recorded': '{whole} s grabados',
  '{whole} watching': '{whole} viendo',
  'From second': 'Desde el segundo',
  'From the picture shown': 'Desde la imagen mostrada',
  'Made, and being processed:': 'Creado y en proceso:',
  'Make a clip': 'Crear un clip',
  'Make the clip': 'Crear el clip',
  'The clip was not made': 'No se creó el clip',
  'The last seconds': 'Los últimos segundos',
  'To second': 'Hasta el segundo',
  'To the picture shown': 'Hasta la imagen mostrada',
  'Where the clip begins': 'Dónde empieza el clip',
  'Where the clip ends': 'Dónde termina el clip',
  '{title} (clip)': '{title} (clip)',
  '{frameRate} pictures per second': '{frameRate} imágenes por segundo',
  'key frames every {keyFrameInterval} s': 'fotogramas clave cada {keyFrameInterval} s',
  '{count} drop|{count} drops': '{count} corte|{count} cortes',
  'The encoder needs attention': 'El codificador requiere atención',
};
