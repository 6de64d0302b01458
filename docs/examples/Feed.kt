// Kotlin 1.9 or newer with kotlinx-serialization-json 1.6, on the JVM or Android (not on the main thread).
import kotlinx.serialization.Serializable
import kotlinx.serialization.encodeToString
import kotlinx.serialization.json.Json
import java.net.HttpURLConnection
import java.net.URL
import java.util.UUID

@Serializable data class FeedItem(val id: String, val title: String, val streamingUrl: String?, val thumbnailUrl: String? = null)
@Serializable data class FeedPage(val data: List<FeedItem>)
@Serializable data class EventData(val position: Int? = null, val startupTime: Int? = null)
@Serializable data class Event(val eventId: String, val event: String, val contentId: String, val userId: String, val data: EventData? = null)
@Serializable data class Batch(val events: List<Event>)

private val json = Json { ignoreUnknownKeys = true }

class Reelfeed(private val service: String, private val publishableKey: String) {
    fun feed(userId: String, limit: Int = 10): FeedPage =
        json.decodeFromString(call("/v1/feed?userId=$userId&limit=$limit"))

    fun send(events: List<Event>): String = call("/v1/events/batch", json.encodeToString(Batch(events)))

    private fun call(path: String, body: String? = null): String {
        val connection = URL(service + path).openConnection() as HttpURLConnection
        connection.setRequestProperty("Authorization", "Bearer $publishableKey")
        if (body != null) {
            connection.doOutput = true
            connection.setRequestProperty("Content-Type", "application/json")
            connection.outputStream.use { it.write(body.toByteArray()) }
        }
        return connection.inputStream.bufferedReader().use { it.readText() }
    }
}

fun main() {
    val reelfeed = Reelfeed(System.getenv("REELFEED"), System.getenv("PUBLISHABLE_KEY"))
    val item = reelfeed.feed(userId = "ada").data.first()
    fun event(kind: String, data: EventData? = null) =
        Event(UUID.randomUUID().toString(), kind, item.id, "ada", data)
    reelfeed.send(listOf(
        event("impression", EventData(position = 0)),
        event("playStart", EventData(startupTime = 180)),
        event("like"),
    ))
}
